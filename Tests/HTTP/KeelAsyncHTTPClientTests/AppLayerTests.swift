#if AsyncHTTPClient && TestServer
import KeelHTTP
import KeelTestKit
import Synchronization
import Testing

@Suite("Layers of an app that wait only for the next")
struct AppLayerTests {
    /// Passes calls on, and records their tasks.
    private final class Passing: HTTPMiddleware {
        let waitsOnlyForNext: Bool
        let tasks = Mutex<[Int?]>([])

        init(waitsOnlyForNext: Bool) { self.waitsOnlyForNext = waitsOnlyForNext }

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            let task = withUnsafeCurrentTask { $0?.hashValue }
            tasks.withLock { $0.append(task) }
            return try await next(call)
        }
    }

    @Test("Their calls need no child task", arguments: [true, false])
    func tasks(waitsOnlyForNext: Bool) async throws {
        let layer = Passing(waitsOnlyForNext: waitsOnlyForNext)
        let caller = try await AnsweringServer.run { _, write in
            try await write(answer())
            return .keepOpen
        } while: { port in
            let change: @Sendable (inout NetworkClient.Configuration) -> Void = {
                $0.attemptMiddleware = [layer]
            }
            return try await withClient("http://127.0.0.1:\(port)", change) { client in
                _ = try await client.response(to: GetItem()).get()
                return withUnsafeCurrentTask { $0?.hashValue }
            }
        }
        let isCallers = layer.tasks.withLock { $0 == [caller] }
        #expect(isCallers == waitsOnlyForNext)
    }

    @Test("The total time still ends their calls")
    func totalTime() async throws {
        let (reached, reachedSignal) = AsyncStream.makeStream(of: Void.self)
        let clock = TestClock()
        let result = try await AnsweringServer.run { _, _ in
            reachedSignal.finish()
            return .stall
        } while: { port in
            let change: @Sendable (inout NetworkClient.Configuration) -> Void = {
                $0.clock = clock
                $0.attemptMiddleware = [Passing(waitsOnlyForNext: true)]
            }
            return try await withClient("http://127.0.0.1:\(port)", change) { client in
                async let answer = client.response(to: GetItem(timeout: .milliseconds(200)))
                for await _ in reached {}
                await clock.advance(by: .milliseconds(200), onceAsleep: 1)
                return await answer
            }
        }
        let error = #expect(throws: TransportError.self) { try result.get() }
        #expect(error?.code == .deadlineExceeded)
    }
}
#endif
