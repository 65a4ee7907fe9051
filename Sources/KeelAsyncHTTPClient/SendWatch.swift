#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import NIOCore

/// Notices when the network takes nothing more of a request body.
///
/// AsyncHTTPClient's own limit on writing would not do: it stands still while the network takes
/// nothing, runs while nobody has anything to send, and is set up for requests without a body too.
///
/// It is used on the event loop of its channel only.
final class SendWatch {
    private let limit: TimeAmount
    private var waitingBytes = 0
    private var lastProgress = NIODeadline.distantPast
    private var timer: Scheduled<Void>?

    init(_ limit: TimeAmount) { self.limit = limit }

    /// Takes note of a piece that was given to the network.
    ///
    /// - Parameters:
    ///   - count: How many bytes it has.
    ///   - eventLoop: The event loop of the channel.
    ///   - expired: Is called when nothing has been taken for the whole limit.
    func handedOver(_ count: Int, on eventLoop: any EventLoop, _ expired: @escaping () -> Void) {
        if waitingBytes == 0 { lastProgress = .now() }
        waitingBytes += count
        if timer == nil { wait(for: limit, on: eventLoop, expired) }
    }

    /// Takes note that the network has taken a piece.
    func taken(_ count: Int) {
        waitingBytes -= count
        lastProgress = .now()
    }

    /// Ends the watch over a request; what is left of it is not waited for any more.
    func end() {
        timer?.cancel()
        timer = nil
    }

    private func wait(
        for time: TimeAmount,
        on eventLoop: any EventLoop,
        _ expired: @escaping () -> Void
    ) {
        timer = eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.timer = nil
            guard self.waitingBytes > 0 else { return }
            let left = self.lastProgress + self.limit - .now()
            if left > .zero {
                self.wait(for: left, on: eventLoop, expired)
            } else {
                expired()
            }
        }
    }
}
#endif
