import KeelCore
import Synchronization

extension HTTPByteStream {
    /// Fails with ``TransportError/Code/tooSlow`` once fewer bytes arrive than the rate asks for.
    ///
    /// The time in which somebody reads is cut into windows. The reading of a window's bytes ends
    /// when the window does, unless the window has its bytes already; then the next one's does.
    func held(to rate: TransferRate, on timer: DeadlineTimer) -> HTTPByteStream {
        guard rate.bytes > 0, rate.window > .zero else { return self }
        let meter = RateMeter(rate)
        return mapReads { read async throws(TransportError) in
            let start = timer.now
            let piece = try await Deadline(in: meter.timeLeft, on: timer).run(
                throwing: .tooSlow(rate),
                read
            )
            guard let piece else { return nil }
            // The timer may have been beaten by a piece that came when the window was over.
            guard meter.add(piece.count, in: timer.now - start) else {
                throw .tooSlow(rate)
            }
            return piece
        }
    }
}

extension TransportError {
    fileprivate static func tooSlow(_ rate: TransferRate) -> TransportError {
        TransportError(.tooSlow, "Fewer than \(rate.bytes) bytes came in \(rate.window).")
    }
}

/// How much of a window is over, and how many of its bytes have come.
private final class RateMeter: Sendable {
    private let rate: TransferRate
    private let state = Mutex<(time: Duration, bytes: Int)>((.zero, 0))

    init(_ rate: TransferRate) { self.rate = rate }

    var timeLeft: Duration {
        state.withLock { state in
            rate.window - state.time + (state.bytes >= rate.bytes ? rate.window : .zero)
        }
    }

    /// Notes a piece; false if a window has ended without its bytes.
    func add(_ bytes: Int, in time: Duration) -> Bool {
        state.withLock { state in
            state.time += time
            while state.time >= rate.window {
                guard state.bytes >= rate.bytes else { return false }
                state.time -= rate.window
                state.bytes = 0
            }
            state.bytes += bytes
            return true
        }
    }
}
