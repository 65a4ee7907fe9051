internal import Dispatch
internal import Foundation

/// Calls a closure when a signal arrives, until the watch is released.
///
/// The release does not restore the signal's default action.
// After its creation, only Dispatch uses the source, whose type is not marked as sendable.
package final class SignalWatch: @unchecked Sendable {
    private let source: any DispatchSourceSignal

    /// Returns whether a signal is ignored, as `nohup` makes a program ignore SIGHUP.
    package static func isIgnored(_ number: Int32) -> Bool {
        handler(of: number) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Returns whether a signal has its default action.
    static func isDefault(_ number: Int32) -> Bool { handler(of: number) == 0 }

    /// Returns the address of a signal's handler, which is 0 for the default action.
    static func handler(of number: Int32) -> Int {
        var action = sigaction()
        sigaction(number, nil, &action)
        // The first member, which has another name on each system.
        return withUnsafeBytes(of: action) { $0.load(as: Int.self) }
    }

    /// Starts to watch a signal, in place of its default action.
    ///
    /// The call waits until Dispatch has registered the watch; until then, a signal with the default action is ignored.
    /// The closure is called on another thread, once for several arrivals in quick succession.
    package init(_ number: Int32, _ body: @escaping @Sendable () -> Void) {
        // On Linux, Dispatch installs its handler only with the first watch of a signal.
        if Self.isDefault(number) { signal(number, SIG_IGN) }
        // A queue of its own has a thread even while others are blocked or busy.
        let queue = DispatchQueue(label: "keel.signal")
        source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler(handler: body)
        let registered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { registered.signal() }
        source.resume()
        registered.wait()
    }

    deinit { source.cancel() }
}
