echo deployed >> deployed.txt
