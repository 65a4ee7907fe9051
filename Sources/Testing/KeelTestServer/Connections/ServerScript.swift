#if TestServer
import HTTPTypes
import KeelTestKit
import NIOCore
import Synchronization

/// The answers of a server, and its open connections.
final class ServerScript: Sendable {
    typealias Raw = @Sendable (RawConnection) async throws -> Void

    private struct State {
        var answers: ArraySlice<HTTPTestAnswer>
        var open: [Int: any Channel] = [:]
    }

    let raw: Raw?
    private let handler: FaultServer.Handler
    private let state: Mutex<State>

    init(answers: [HTTPTestAnswer], _ handler: @escaping FaultServer.Handler) {
        raw = nil
        self.handler = handler
        state = Mutex(State(answers: answers[...]))
    }

    init(raw: @escaping Raw) {
        self.raw = raw
        handler = { _ in .status(.notFound) }
        state = Mutex(State(answers: []))
    }

    func enqueue(_ answer: HTTPTestAnswer) {
        state.withLock { $0.answers.append(answer) }
    }

    func next() -> HTTPTestAnswer? {
        state.withLock { $0.answers.popFirst() }
    }

    /// Computes the answer to a request without a queued one.
    func answer(
        to request: HTTPTestRequest,
        _ journal: Watched<HTTPTestJournal>
    ) async throws -> HTTPTestAnswer {
        do {
            return try await handler(request)
        } catch {
            if Task.isCancelled { throw error }
            let text = String(describing: error)
            journal.change { $0.failures.append(text) }
            return .text(text, status: .internalServerError)
        }
    }

    // MARK: Connections

    func opened(_ channel: any Channel, _ number: Int) {
        state.withLock { $0.open[number] = channel }
    }

    func closed(_ number: Int) {
        state.withLock { _ = $0.open.removeValue(forKey: number) }
    }

    func closeConnections() async {
        for channel in state.withLock({ Array($0.open.values) }) {
            try? await channel.close().get()
        }
    }
}
#endif
