internal import Dispatch
internal import Foundation

/// Calls a closure whenever a signal arrives, until the watch is released.
// After its creation, only Dispatch uses the source, whose type is not marked as sendable.
package final class SignalWatch: @unchecked Sendable {
    private let source: any DispatchSourceSignal

    /// Returns whether a signal is ignored, as `nohup` makes a program ignore SIGHUP.
    package static func isIgnored(_ number: Int32) -> Bool {
        let handler = signal(number, SIG_IGN)
        signal(number, handler)
        let ignoring = unsafeBitCast(SIG_IGN, to: Int.self)
        return handler.map { unsafeBitCast($0, to: Int.self) } == ignoring
    }

    /// Starts to watch a signal, in place of its default action.
    ///
    /// - Parameters:
    ///   - number: The signal.
    ///   - body: The closure, called on a separate thread, once for several arrivals in quick succession.
    package init(_ number: Int32, _ body: @escaping @Sendable () -> Void) {
        // On Linux, Dispatch installs its handler only with the first watch of a signal.
        if let handler = signal(number, SIG_IGN) { signal(number, handler) }
        source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: body)
        source.resume()
    }

    deinit { source.cancel() }
}
