#if os(Linux)
import Foundation
import Glibc
import KeelTestSupport
import Synchronization
import Testing

/// A dedicated gpsd on loopback, fed by a track over TCP, for the duration of a test.
final class RealGPSD: Sendable {
    /// The program, if it is installed.
    static let program = ["/usr/sbin/gpsd", "/usr/local/sbin/gpsd", "/usr/bin/gpsd"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The output of the receiver, at twenty times real time.
    private final class Feed: Sendable {
        struct State {
            var scene: NMEATrack.Scene?
            var second = 0
            var isOver = false
        }

        let state = Mutex(State(scene: NMEATrack.Scene.none))

        /// Serves one connection until it ends.
        func run(_ client: LoopbackServer.Client) {
            while let text = next() {
                client.send(text)
                // The pace of the receiver, not a wait of the test.
                poll(nil, 0, 50)
            }
        }

        private func next() -> String? {
            state.withLock { state in
                guard !state.isOver else { return nil }
                guard let scene = state.scene else { return "" }
                state.second += 1
                return NMEATrack.sentences(state.second, scene)
            }
        }
    }

    let port: UInt16
    private let feed: Feed
    private let receiver: LoopbackServer
    private let process = Mutex<Process?>(nil)

    /// Starts a gpsd whose receiver has no fix yet.
    init() throws {
        let feed = Feed()
        self.feed = feed
        receiver = try LoopbackServer(
            onConnect: { client in Thread.detachNewThread { feed.run(client) } }
        )
        port = try UInt16(PeerProcess.freePort())
        try start()
    }

    deinit { stop() }

    /// Sets what the receiver sees; nil silences it.
    func show(_ scene: NMEATrack.Scene?) { feed.state.withLock { $0.scene = scene } }

    /// Starts gpsd on the same port; for root as `nobody`, as gpsd itself would.
    func start() throws {
        let process = Process()
        let arguments = ["-N", "-n", "-S", "\(port)", "tcp://127.0.0.1:\(receiver.port)"]
        let program = try #require(Self.program)
        if getuid() == 0, FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
            process.arguments =
                ["--reuid=nobody", "--regid=nogroup", "--clear-groups", program] + arguments
        } else {
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process.withLock { $0 = process }
    }

    /// Kills gpsd by its process id, without a shutdown.
    func kill() {
        guard let process = process.withLock({ $0.take() }) else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func stop() {
        feed.state.withLock { $0.isOver = true }
        kill()
        receiver.stop()
    }
}
#endif
