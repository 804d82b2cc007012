# Objects, strings, sorting and hashes.
rounds = Integer(ARGV[0])
random, checksum = 1, 0
Account = Struct.new(:number, :owner, :balance)
rounds.times do
  accounts = {}
  20_000.times do |step|
    random = (random * 1664525 + 1013904223) & 0xFFFFFFFF
    number = random >> 20
    account = (accounts[number] ||= Account.new(number, "owner #{number % 997}", 0))
    account.balance = (account.balance + step) % 1_000_003
  end
  text = accounts.values.sort_by { |a| [a.balance, a.number] }.map { |a| "#{a.owner}:#{a.balance}" }.join(",")
  checksum = (checksum * 31 + text.size + text.scan(/9+/).size) & 0xFFFFFFFF
end
puts "#{rounds} rounds, checksum #{checksum}"
