import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

enum Fixture {
    static let base = URL(string: "https://files.example/v1")
    static let file = URL(fileURLWithPath: "/disk/film.mp4")

    static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    static func client(
        _ transport: any HTTPTransport,
        clock: any Clock<Duration> = ImmediateClock()
    ) throws -> NetworkClient {
        var configuration = NetworkClient.Configuration(baseURL: try #require(base))
        configuration.clock = clock
        // On a clock that jumps, a concurrent timeout would expire at once.
        configuration.timeout = nil
        return NetworkClient(configuration, transport: transport)
    }

    static func download(
        _ transport: any HTTPTransport,
        _ files: SimulatedFileSystem,
        from address: String = "film.mp4",
        _ change: (inout ResumableDownload.Configuration) -> Void = { _ in }
    ) throws -> ResumableDownload {
        var configuration = ResumableDownload.Configuration()
        configuration.checkpointByteCount = 4000
        configuration.retry.jitter = { 0.5 }
        change(&configuration)
        return ResumableDownload(
            from: try url(address),
            to: file,
            through: try client(transport),
            configuration: configuration,
            files: files,
            shared: files
        )
    }
}

final class Events: Sendable {
    private let state = Mutex<[TransferEvent]>([])

    var observer: ResumableTransferObserver {
        .events { event in self.state.withLock { $0.append(event) } }
    }

    var all: [TransferEvent] { state.withLock { $0 } }

    var restarts: [TransferRestart] {
        all.compactMap { if case .restarted(let reason) = $0 { reason } else { nil } }
    }

    var resumptions: [Int64] {
        all.compactMap { if case .resumed(let offset) = $0 { offset } else { nil } }
    }

    var pauses: [Duration] {
        all.compactMap { if case .retrying(let pause, _) = $0 { pause } else { nil } }
    }
}

/// Signs for a user who has signed in and out again since the first one was asked for.
final class PassingUser: HTTPAuthorizing {
    let identity: String? = "ann"

    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        _ = call.options.pin?.admits("ben", at: ObjectIdentifier(self))
        return try await next(call)
    }
}
