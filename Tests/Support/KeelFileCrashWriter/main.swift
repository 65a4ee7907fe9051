// Writes files until it is killed, and prints each number once its files are written; see KeelFilesTests/KillTests.

import Foundation
import KeelFiles

/// Returns a content that identifies its number and shows whether it is whole.
func content(_ number: Int) -> [UInt8] {
    let text = Array("\(number);".utf8)
    return (0..<(1 + number % 40 * 997)).flatMap { _ in text }
}

guard CommandLine.arguments.count == 3, let first = Int(CommandLine.arguments[2]) else {
    FileHandle.standardError.write(Data("usage: KeelFileCrashWriter <folder> <first>\n".utf8))
    exit(2)
}
var configuration = LocalFileStoreAdapter.Configuration()
// The system keeps written data when a process dies.
configuration.durability = .process
let store = FileStore(
    try LocalFileStoreAdapter(folder: CommandLine.arguments[1], configuration: configuration)
)
var number = first
while true {
    try await store.write(FileContent(content(number)), to: "same")
    try await store.write(FileContent(content(number)), to: "new/\(number % 7)/\(number)")
    try await store.move("new/\(number % 7)/\(number)", to: "kept/\(number)")
    try await store.delete("kept/\(number - 20)")
    // Writing a short line to a pipe is atomic.
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    number += 1
}
