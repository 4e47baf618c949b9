update assent.meta set value = 'restored' where key = 'place';
