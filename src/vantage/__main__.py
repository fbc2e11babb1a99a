from vantage.cli import main

main()
