#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import NIOCore

/// The stall timeout of a request body.
///
/// AsyncHTTPClient's own write timeout does not suffice: it stops while the network takes nothing,
/// runs while there is nothing to send, and starts for requests without a body as well.
///
/// Used only on its channel's event loop.
final class SendStallTimeout {
    private let limit: TimeAmount
    private var waitingBytes = 0
    private var lastProgress = NIODeadline.distantPast
    private var timer: Scheduled<Void>?

    init(_ limit: TimeAmount) { self.limit = limit }

    /// Records a piece given to the network; `expired` is called on a stall.
    func handedOver(_ count: Int, on eventLoop: any EventLoop, _ expired: @escaping () -> Void) {
        if waitingBytes == 0 { lastProgress = .now() }
        waitingBytes += count
        if timer == nil { wait(for: limit, on: eventLoop, expired) }
    }

    func taken(_ count: Int) {
        waitingBytes -= count
        lastProgress = .now()
    }

    /// Ends the timeout of a request, ignoring the rest of its body.
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
