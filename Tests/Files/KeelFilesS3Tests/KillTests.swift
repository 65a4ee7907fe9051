#if (os(Linux) || os(macOS)) && Crypto && AsyncHTTPClient
import Foundation
import KeelFiles
import KeelFilesS3
import KeelTestKit
import KeelTestSupport
import Testing

/// A test that kills uploading processes at random moments.
@Suite(
    "Uploads across process kills",
    .enabled(if: S3Peer.isPresent, S3Peer.absence),
    .timeLimit(.minutes(30))
)
struct KillTests {
    /// The number of kills, which `KEEL_KILLS` overrides.
    private static let killCount = TestLength.count("KEEL_KILLS", 6, thorough: 12)
    /// The number of parts of the file, of 5 MiB but for the last.
    private static let partCount = 7

    @Test("Uploads continue after kill -9 at random moments, and the file is identical")
    func kills() async throws {
        let peer = try S3Peer.shared(.rclone)
        let scratch = try TemporaryFolder()
        let bytes = sampleBytes(5, count: (Self.partCount - 1) * (5 << 20) + 11)
        let file = scratch.path + "/source"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let (notes, folder) = (scratch.path + "/notes", freshFolder())
        var (killed, ended, interrupted) = (0, 0, 0)
        while killed < Self.killCount {
            let arguments = [peer.endpoint, S3Peer.bucket, "\(folder)/\(ended)", file, notes]
            // On a slow machine, a process at a random moment of its life has not begun the upload yet.
            switch try await life(arguments, peer, waitsForUpload: killed.isMultiple(of: 2)) {
            case .killed:
                killed += 1
                guard let record = Self.record(in: notes) else { break }
                interrupted += 1
                // The killed process may have requested the end of the upload. If the next one does so too, at the
                // same time, rclone deletes the file.
                if try Self.recordedPartCount(record) == Self.partCount {
                    try FileManager.default.removeItem(atPath: record)
                    ended += 1
                }
            case .unclear: break
            case .ended:
                let files = FileStore(try peer.adapter(.root))
                let read = try await files.read(try FileStorePath(arguments[2]))
                #expect(Array(read) == bytes)
                ended += 1
            }
        }
        let adapter = try peer.adapter(.root) { configuration in
            configuration.partByteCount = 5 << 20
            configuration.uploadFolder = notes
        }
        let last: FileStorePath = "\(folder)/\(ended)"
        do {
            try await FileStore(adapter).write(FileContent(bytes), to: last)
        } catch {
            // A killed process had already requested the end of the upload.
            try #require(error.code == .unavailable)
            try await FileStore(adapter).write(FileContent(bytes), to: last)
        }
        #expect(try await Array(FileStore(adapter).read(last)) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: notes).isEmpty)
        // A kill between the server's reply and the record leaves an upload behind.
        let left = try await adapter.incompleteUploads().filter { $0.key.hasPrefix("\(folder)/") }
        #expect(left.count <= Self.killCount)
        for upload in left { #expect(upload.startDate <= Date.now.addingTimeInterval(5)) }
        try await adapter.abortIncompleteUploads(olderThan: .zero)
        #expect(try await adapter.incompleteUploads().isEmpty)
        // Kills before or after the upload would prove nothing.
        #expect(interrupted >= Self.killCount / 3)
        print(
            "\(killed) kills, \(interrupted) of them in an upload, \(ended) files before the last"
        )
    }

    /// The end of a process that writes the file.
    private enum End {
        case killed, ended
        /// The process cannot know whether its predecessor has written the file; the next one writes it again.
        case unclear
    }

    /// Returns the path of the record of an upload in a folder.
    private static func record(in notes: String) -> String? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: notes)) ?? []
        return names.first { $0.hasSuffix(".upload") }.map { notes + "/" + $0 }
    }

    /// Returns the number of parts in a record: its lines but the first.
    private static func recordedPartCount(_ record: String) throws -> Int {
        try Data(contentsOf: URL(filePath: record)).count { $0 == UInt8(ascii: "\n") } - 1
    }

    /// Runs a process that writes the file until it ends or is killed.
    private func life(
        _ arguments: [String],
        _ peer: S3Peer,
        waitsForUpload: Bool
    ) async throws -> End {
        let process = Process()
        process.executableURL = try CrashTrial.program("KeelS3CrashWriter")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging([
            "AWS_ACCESS_KEY_ID": peer.credentials.accessKeyID,
            "AWS_SECRET_ACCESS_KEY": peer.credentials.secretAccessKey,
            // A process that writes a backtrace keeps the pipe open for minutes.
            "SWIFT_BACKTRACE": "enable=no",
        ]) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let handle = output.fileHandleForReading
        _ = handle.availableData
        if waitsForUpload {
            let notes = arguments[4]
            try await waitUntil(within: .seconds(600)) {
                !process.isRunning || Self.record(in: notes) != nil
            }
        }
        // Real time for a real process, so that the moment is arbitrary.
        try await Task.sleep(for: .milliseconds(Int.random(in: 20...700)))
        kill(process.processIdentifier, SIGKILL)
        _ = handle.readDataToEndOfFile()
        process.waitUntilExit()
        let message = Comment(
            rawValue: String(
                decoding: errors.fileHandleForReading.readDataToEndOfFile(),
                as: UTF8.self
            )
        )
        if process.terminationReason == .uncaughtSignal {
            try #require(process.terminationStatus == SIGKILL, message)
            return .killed
        }
        try #require([0, 3].contains(process.terminationStatus), message)
        return process.terminationStatus == 3 ? .unclear : .ended
    }
}
#endif
