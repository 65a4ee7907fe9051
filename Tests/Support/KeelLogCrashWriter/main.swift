// Writes numbered records to a rotated log file. The tests kill the program or let it end; see LogFileProcessTests.
//
//     usage: KeelLogCrashWriter <file> <first> <count> <byte limit> <compress: 0 or 1> <mode>
//
//     each   prints the number of each record once it is written, and waits at the end
//     last   prints the number of the last record once all are written, and waits
//     end    prints the number of the last record once all are written, and ends

#if Logging

import Foundation
import KeelLogging
import Logging

let arguments = CommandLine.arguments
guard arguments.count == 7, let first = Int(arguments[2]), let count = Int(arguments[3]),
    let byteLimit = Int(arguments[4])
else {
    FileHandle.standardError.write(Data("usage: see the source\n".utf8))
    exit(2)
}
var configuration = LogFileConfiguration()
configuration.byteLimit = byteLimit
configuration.totalByteLimit = nil
configuration.compresses = arguments[5] == "1"
let file = try RotatingLogFile(at: URL(fileURLWithPath: arguments[1]), configuration)
let logger = Logger(label: "writer") { RotatingFileLogHandler(label: $0, output: file) }

/// Writing a short text to a pipe is atomic.
func say(_ number: Int) { FileHandle.standardOutput.write(Data("\(number)\n".utf8)) }

let filling = String(repeating: "x", count: 40)
for number in first..<(first + count) {
    logger.info("record \(number)", metadata: ["number": "\(number)", "filling": "\(filling)"])
    if arguments[6] == "each" { say(number) }
}
if arguments[6] != "each" { say(first + count - 1) }
if arguments[6] == "end" {
    if configuration.compresses { file.waitForMaintenance() }
    exit(0)
}
while true { sleep(60) }

#endif
