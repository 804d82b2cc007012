"""Dictionaries, strings, sorting, classes and JSON, in one thread."""

import json
import sys


class Account:
    def __init__(self, number, owner):
        self.number, self.owner, self.balance = number, owner, 0

    def add(self, amount):
        self.balance = (self.balance + amount) % 1_000_003
        return self.balance


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 45
    random, checksum = 1, 0
    for _ in range(rounds):
        accounts = {}
        for step in range(60_000):
            random = (random * 1664525 + 1013904223) & 0xFFFFFFFF
            number = random >> 20
            account = accounts.get(number)
            if account is None:
                account = accounts[number] = Account(number, f"owner {number % 997}")
            checksum ^= account.add(step)
        ordered = sorted(accounts.values(), key=lambda account: (account.balance, account.number))
        text = json.dumps([vars(account) for account in ordered])
        checksum = (checksum * 31 + len(text) + len(json.loads(text))) & 0xFFFFFFFF
    print(f"{rounds} rounds, checksum {checksum}")


main()
