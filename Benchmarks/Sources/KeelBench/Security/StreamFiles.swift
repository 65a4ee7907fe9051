import Foundation
import KeelSecurity

/// A file that Keel and its peers encrypt from disk to disk, without synchronization.
struct StreamFiles: Sendable {
    private let folder: WorkFolder
    private let plain: String
    private let mebibytes: Int
    private let keyset: Keyset
    private let keysetFile: String

    init(_ options: Options) throws {
        folder = try WorkFolder("security", in: options.folder)
        mebibytes = options.isQuick ? 2 : 256
        plain = folder.path("plain")
        keyset = try Keyset.make(.aes256GCMHKDF64KB)
        keysetFile = folder.path("keyset.json")
        try keyset.cleartextJSON().write(to: URL(filePath: keysetFile))
        var random = Generator(seed: 7)
        var content = Data(capacity: mebibytes << 20)
        for _ in 0..<mebibytes << 17 {
            withUnsafeBytes(of: random.next()) { content.append(contentsOf: $0) }
        }
        try content.write(to: URL(filePath: plain))
    }

    /// Returns the speed of Keel in MiB per second.
    @concurrent
    func keel() async throws -> Double {
        let target = folder.path("keel")
        guard FileManager.default.createFile(atPath: target, contents: nil) else {
            throw Flaw("The file \(target) could not be made.")
        }
        let microseconds = try Timing.perCall(1) { _ in
            let input = try FileHandle(forReadingFrom: URL(filePath: plain))
            let output = try FileHandle(forWritingTo: URL(filePath: target))
            let encryptor = try StreamingEncryption(keyset: keyset).encryptor()
            while let piece = try input.read(upToCount: 1 << 20), !piece.isEmpty {
                try output.write(contentsOf: try encryptor.update(piece))
            }
            try output.write(contentsOf: try encryptor.finish())
            try output.close()
        }
        return Double(mebibytes) / microseconds * 1_000_000
    }

    /// Returns the speed of Tink in MiB per second, with the same keyset and the same segment size.
    @concurrent
    func tink() async throws -> Double {
        let arguments = ["stream", keysetFile, plain, folder.path("tink")]
        return Double(mebibytes) / (try await SecurityGroup.python.number(arguments))
    }

    /// Returns the speed of the program age in MiB per second, including its start.
    @concurrent
    func age() async throws -> Double {
        let identity = folder.path("identity")
        if !FileManager.default.fileExists(atPath: identity) {
            let made = try await ProgramRun("age-keygen", ["-o", identity])
            guard made.status == 0 else { throw NotRun("there is no program 'age-keygen'") }
        }
        let target = folder.path("age")
        let start = ContinuousClock.now
        let run = try await ProgramRun("age", ["-e", "-i", identity, "-o", target, plain])
        let seconds = start.duration(to: .now) / .seconds(1)
        guard run.status == 0 else { throw Flaw("age ended with \(run.status): \(run.lastLine)") }
        return Double(mebibytes) / seconds
    }
}
