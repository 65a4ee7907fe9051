// Appends to a journal and settles records until it is killed, and prints each step; see KillTests.
//
//     N              the record N was appended
//     1000000000+N   the record N is about to be settled
//     -N             the record N was settled

import Foundation
import KeelJournal

let arguments = CommandLine.arguments
guard arguments.count == 4, let first = Int(arguments[2]) else {
    FileHandle.standardError.write(
        Data("usage: KeelJournalCrashWriter <folder> <first> <consumer>\n".utf8)
    )
    exit(2)
}
var configuration = JournalConfiguration()
configuration.byteLimit = 1 << 20
let journal = try Journal(at: URL(fileURLWithPath: arguments[1]), configuration: configuration)
let consumer = try journal.consumer(arguments[3])

/// Writing a short text to a pipe is atomic.
func say(_ numbers: [Int]) {
    FileHandle.standardOutput.write(Data(numbers.map { "\($0)\n" }.joined().utf8))
}

var number = first
while true {
    let filling = [UInt8](repeating: 0x2E, count: number * 37 % 400)
    try journal.append(Array("\(number) ".utf8) + filling)
    say([number])
    if number % 10 == 0 {
        let records = try consumer.read(upTo: 12)
        let numbers = records.compactMap { record in
            Int(String(decoding: record.bytes.prefix { $0 != 0x20 }, as: UTF8.self))
        }
        say(numbers.map { 1_000_000_000 + $0 })
        try consumer.acknowledge(records.map(\.position))
        say(numbers.map(-))
    }
    if number % 500 == 0 { try journal.close() }
    number += 1
}
