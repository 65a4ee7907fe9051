import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A server of Firestore's protocol in a separate process, which is killed with this value.
final class FirestoreServer: Sendable {
    let port: Int
    /// The milliseconds from the start of the process to the first byte of a response.
    let startTime: Double
    /// Whether a connection takes another request after a reply.
    ///
    /// The emulator closes connections without notice.
    let keepsConnections: Bool
    private let process: Process

    /// Starts `keel serve` on a storage, such as `memory`.
    @concurrent
    static func keel(_ storage: String, _ more: [String] = []) async throws -> FirestoreServer {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "keel")
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw NotRun("there is no program \(program.path); Scripts/bench.sh builds it")
        }
        return try await FirestoreServer(program.path, keepsConnections: true) { port in
            ["serve", "--storage", storage, "--port", "\(port)", "--log-level", "critical"] + more
        }
    }

    /// Starts Google's emulator, with the options of its own script.
    @concurrent
    static func emulator() async throws -> FirestoreServer {
        let java = try FirestoreEmulator.java()
        let archive = try FirestoreEmulator.archive()
        return try await FirestoreServer(java, keepsConnections: false) { port in
            FirestoreEmulator.arguments(archive: archive, port: port)
        }
    }

    /// Starts a program and waits until it answers a request.
    private init(
        _ program: String,
        keepsConnections: Bool,
        _ arguments: (_ port: Int) -> [String]
    ) async throws {
        self.keepsConnections = keepsConnections
        port = try await Self.freePort()
        process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments(port)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let start = ContinuousClock.now
        try process.run()
        RunningServers.insert(process.processIdentifier)
        do {
            while try await !Self.answers(port) {
                guard process.isRunning, start.duration(to: .now) < .seconds(120) else {
                    throw Flaw("\(program) does not answer.")
                }
                // A program does not announce that it listens, so the port is polled.
                try await Task.sleep(for: .milliseconds(1))
            }
        } catch {
            Self.kill(process)
            throw error
        }
        startTime = start.duration(to: .now).microseconds / 1_000
    }

    deinit { Self.kill(process) }

    /// Returns the server's resident memory in MiB.
    func residentMemory() throws -> Double { try ResidentMemory.of(process.processIdentifier) }

    private static func kill(_ process: Process) {
        // Before the exit of the child is noticed, its number belongs to no other process.
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        RunningServers.remove(process.processIdentifier)
    }

    /// Returns whether a server accepts a connection and answers a request, whatever the answer.
    private static func answers(_ port: Int) async throws -> Bool {
        let answer = NIOSingletons.posixEventLoopGroup.next().makePromise(of: Bool.self)
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        ClientBootstrap(group: answer.futureResult.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AnswerHandler(answer))
                }
            }
            .connect(to: address)
            .whenFailure { _ in answer.succeed(false) }
        return try await answer.futureResult.get()
    }

    /// Returns a port of 127.0.0.1 that is currently free.
    private static func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: NIOSingletons.posixEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port
        try await channel.close()
        guard let port else { throw Flaw("No port is free.") }
        return port
    }
}

/// The servers that are killed when this program ends, whatever still holds them.
private enum RunningServers {
    private static let processes = Mutex<Set<Int32>>([])
    private static let registered: Void = {
        atexit {
            for process in RunningServers.processes.withLock({ $0 }) { kill(process, SIGKILL) }
        }
    }()

    static func insert(_ process: Int32) {
        registered
        _ = processes.withLock { $0.insert(process) }
    }

    static func remove(_ process: Int32) { _ = processes.withLock { $0.remove(process) } }
}

/// Sends a request and tells whether anything comes back.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: EventLoopPromise<Bool>

    init(_ answer: EventLoopPromise<Bool>) { self.answer = answer }

    func channelActive(context: ChannelHandlerContext) {
        let request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        answer.succeed(true)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { answer.succeed(false) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
