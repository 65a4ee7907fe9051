// Writes to a folder until it is killed, and prints each step once it has returned. The crash tests
// start it, kill it, and look at what is left: see DiskKillTests, which knows what step does what.

import Foundation
import KeelCache

let arguments = CommandLine.arguments
guard arguments.count == 3, let first = Int(arguments[2]) else {
    FileHandle.standardError.write(Data("usage: KeelCacheCrashWriter <folder> <first>\n".utf8))
    exit(2)
}
var configuration = DiskCacheTier.Configuration(byteLimit: 64 << 20)
configuration.segmentByteCount = 32 << 10
let tier = try DiskCacheTier(
    at: URL(fileURLWithPath: arguments[1]),
    configuration: configuration
)
var number = first
while true {
    // Each value begins with its step, and its length and filling follow from it.
    let count = number % 23 == 0 ? 50_000 : number * 37 % 3000
    let value =
        withUnsafeBytes(of: UInt64(number).littleEndian) { Array($0) }
        + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
    let record = CacheRecord(
        key: Array("key-\(number % 40)".utf8),
        body: .bytes(value),
        created: CacheInstant(microseconds: Int64(number)),
        tags: ["tag-\(number % 3)"]
    )
    try await tier.write([record])
    if number % 5 == 0 { try await tier.remove(.keys([Array("key-\((number + 7) % 40)".utf8)])) }
    if number % 50 == 0 { try await tier.remove(.tag("tag-\(number / 50 % 3)")) }
    if number % 10 == 0 { try await tier.flush() }
    // One write of a short line to a pipe is whole or not there.
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    number += 1
}
