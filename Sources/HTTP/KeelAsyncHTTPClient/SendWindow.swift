#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import Synchronization

/// Makes the producer of a request body wait until the network has taken what was produced.
///
/// AsyncHTTPClient asks for more as soon as a piece is with the event loop. With a busy loop, or a
/// server that does not read, the pieces would pile up in memory.
final class SendWindow: Sendable {
    private struct State {
        var waitingBytes = 0
        var isOver = false
        var producer: CheckedContinuation<Void, Never>?
    }

    /// The maximum number of bytes waiting for the network.
    static let limit = 512 * 1024

    private let state = Mutex(State())

    /// Waits until the network has room; returns at once when the exchange is over.
    func waitForRoom() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { producer in
                let mayGoOn = state.withLock { state in
                    guard !state.isOver, state.waitingBytes >= Self.limit else { return true }
                    state.producer = producer
                    return false
                }
                if mayGoOn || Task.isCancelled { resume(mayGoOn ? producer : nil) }
            }
        } onCancel: {
            resume(nil)
        }
    }

    func produced(_ count: Int) { state.withLock { $0.waitingBytes += count } }

    func taken(_ count: Int) {
        let producer = state.withLock { state in
            state.waitingBytes -= count
            return state.waitingBytes < Self.limit ? state.producer.take() : nil
        }
        producer?.resume()
    }

    /// Releases the producer, as nothing more will be taken.
    func close() {
        state.withLock { $0.isOver = true }
        resume(nil)
    }

    private func resume(_ producer: CheckedContinuation<Void, Never>?) {
        (producer ?? state.withLock { $0.producer.take() })?.resume()
    }
}
#endif
