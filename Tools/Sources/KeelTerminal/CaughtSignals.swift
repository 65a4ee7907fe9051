internal import Foundation

/// The signals that remove the line of a ``ProgressLine`` before they end the process.
package struct CaughtSignals: Sendable {
    private let caught: [(number: Int32, handler: Int)]

    /// Catches those of the signals that have no other handler.
    package init(_ numbers: [Int32] = []) {
        let free = numbers.filter(SignalWatch.isDefault)
        for number in free {
            signal(number) { number in
                let clear: StaticString = "\r\u{1B}[K"
                // Signal handlers may call only a few functions, such as write, signal and raise.
                _ = Foundation.write(STDERR_FILENO, clear.utf8Start, clear.utf8CodeUnitCount)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        caught = free.map { ($0, SignalWatch.handler(of: $0)) }
    }

    /// Restores the default action of the signals.
    ///
    /// On Linux, the first ``SignalWatch`` of a signal replaces the handler for good. That one stays: without it, the
    /// next watch would not learn of the signal, and what it guards would end in the middle.
    package func restore() {
        for (number, handler) in caught where SignalWatch.handler(of: number) == handler {
            signal(number, SIG_DFL)
        }
    }
}
