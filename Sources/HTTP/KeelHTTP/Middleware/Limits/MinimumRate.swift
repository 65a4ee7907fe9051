import KeelCore
import Synchronization

extension HTTPByteStream {
    /// Fails with ``TransportError/Code/tooSlow`` if fewer bytes arrive than the rate requires.
    ///
    /// The time spent reading is divided into windows. A read may last until the end of the current window, or of the
    /// next one if the current window has its bytes.
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
            // A chunk may arrive before the timer fires although the window is over.
            guard meter.add(piece.count, in: timer.now - start) else {
                throw .tooSlow(rate)
            }
            return piece
        }
    }
}

extension TransportError {
    fileprivate static func tooSlow(_ rate: TransferRate) -> TransportError {
        TransportError(.tooSlow, "Fewer than \(rate.bytes) bytes arrived in \(rate.window).")
    }
}

private final class RateMeter: Sendable {
    private let rate: TransferRate
    private let state = Mutex<(time: Duration, bytes: Int)>((.zero, 0))

    init(_ rate: TransferRate) { self.rate = rate }

    var timeLeft: Duration {
        state.withLock { state in
            rate.window - state.time + (state.bytes >= rate.bytes ? rate.window : .zero)
        }
    }

    /// Counts a chunk; returns false if a window has ended without its bytes.
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
