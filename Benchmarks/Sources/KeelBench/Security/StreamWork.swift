import Foundation
import KeelSecurity

/// A process that encrypts a stream and prints by how many MiB it grew.
struct StreamWork {
    static let command = "stream-memory"

    private let mebibytes: Int

    init(_ arguments: ArraySlice<String>) throws {
        guard arguments.count == 1, let count = Int(arguments[arguments.startIndex]) else {
            throw UsageError(message: "\(Self.command) needs a number of MiB")
        }
        mebibytes = count
    }

    static func call(_ mebibytes: Int) -> (program: String, arguments: [String]) {
        (ProcessInfo.processInfo.arguments[0], [command, "\(mebibytes)"])
    }

    func run() throws {
        let streams = try StreamingEncryption(keyset: try Keyset.make(.aes256GCMHKDF64KB))
        let encryptor = try streams.encryptor()
        let piece = Data(repeating: 0x41, count: 1 << 20)
        let output = try FileHandle(forWritingTo: URL(filePath: "/dev/null"))
        // The first pieces allocate buffers once, which is not growth.
        let before = try ResidentMemory.start()
        for _ in 0..<mebibytes {
            try output.write(contentsOf: try encryptor.update(piece))
        }
        try output.write(contentsOf: try encryptor.finish())
        print(max(0, try ResidentMemory.peak() - before))
    }
}
