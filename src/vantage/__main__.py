from vantage.cli import main

main(prog_name="vantage")
