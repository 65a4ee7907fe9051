import CFNetwork
import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestKit
import Synchronization
import Testing

/// A device with an app, and the system that transfers for it.
final class Device: Sendable {
    /// An app from its launch to its end.
    typealias App = BackgroundTransferSession

    let identifier = UUID().uuidString
    let folder: URL
    let transport: ScriptedHTTPTransport

    /// Creates a device whose servers send these responses to the app itself.
    init(_ answers: [ScriptedHTTPTransport.Answer] = []) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "keel-\(identifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        transport = ScriptedHTTPTransport(answers)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var system: TransferSystem { TransferSystem.of(identifier) }
    var film: URL { folder.appending(path: "film.mp4") }

    func launch() -> App { BackgroundTransferSession(identifier) }

    /// The names of everything in the folder.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    func bytes(_ file: URL) -> [UInt8]? { (try? Data(contentsOf: file)).map { Array($0) } }

    private func client() throws -> NetworkClient {
        let base = try #require(URL(string: "https://files.example/v1"))
        var configuration = NetworkClient.Configuration(baseURL: base)
        configuration.defaultHeaders = [.userAgent: "films"]
        configuration.clock = ImmediateClock()
        // On a clock that jumps, a concurrent time limit would expire immediately.
        configuration.timeout = nil
        return NetworkClient(configuration, transport: transport)
    }

    func download(
        _ address: String = "film.mp4",
        _ change: (inout ResumableDownload.Configuration) -> Void = { _ in }
    ) throws -> ResumableDownload {
        var configuration = ResumableDownload.Configuration()
        configuration.headers = [.authorization: "Bearer 1"]
        change(&configuration)
        return ResumableDownload(
            from: try #require(URL(string: address)),
            to: film,
            through: try client(),
            configuration: configuration
        )
    }

    func upload(
        _ change: (inout ResumableUpload.Configuration) -> Void = { _ in }
    ) throws -> ResumableUpload {
        var configuration = ResumableUpload.Configuration()
        configuration.pieceByteCount = 2
        configuration.retry.policy = RetryPolicy(attempts: 2)
        change(&configuration)
        return ResumableUpload(
            of: film,
            to: try #require(URL(string: "films")),
            through: try client(),
            protocol: .tus,
            configuration: configuration
        )
    }

    /// Ends the app's process, and with it a run.
    func endProcess<Value: Sendable>(during run: Task<Value, any Error>) async throws {
        system.endProcess()
        run.cancel()
        _ = try await failure(of: run)
    }

    /// Waits until the system has one transfer that this process has started or found.
    func transfer(_ isWanted: @Sendable (URLSessionTask) -> Bool = { _ in true }) async throws
        -> URLSessionTask
    {
        var task: URLSessionTask?
        try await waitUntil {
            let tasks = system.tasks
            task = tasks.count == 1 ? tasks.first : nil
            return task.map { $0.state == .running && isWanted($0) } ?? false
        }
        return try #require(task)
    }
}

/// The events that an observer received.
final class Told: Sendable {
    private let state = Mutex<[String]>([])

    var events: [String] { state.withLock { $0 } }

    var observer: ResumableTransferObserver {
        .events { [self] event in
            let text =
                switch event {
                case .progress(let now): "safe \(now.completedBytes)"
                case .provisionalProgress(let now):
                    "\(now.completedBytes) of \(now.totalBytes.map(String.init) ?? "?")"
                case .resumed(let offset): "resumed at \(offset)"
                case .restarted(let reason): "\(reason)"
                case .retrying: "again"
                case .sendingPlainRequest: "whole"
                }
            state.withLock { $0.append(text) }
        }
    }
}

extension ExpectedDigest {
    /// Adds up the bytes, which suffices to distinguish two files.
    static func sum(_ value: UInt8) -> ExpectedDigest { ExpectedDigest([value]) { Sum() } }

    private struct Sum: TransferDigest {
        var value: UInt8 = 0
        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            for byte in bytes { value &+= byte }
        }
        func finish() -> [UInt8] { [value] }
    }
}

/// Awaits a run that fails.
func failure<Value: Sendable>(of run: Task<Value, any Error>) async throws -> TransferError {
    let error = await #expect(throws: TransferError.self) { _ = try await run.value }
    return try #require(error)
}
