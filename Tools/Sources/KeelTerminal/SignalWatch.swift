internal import Dispatch
internal import Foundation

/// Calls a closure at each arrival of a signal, until it is released.
// The source is used by Dispatch alone after it was made; its type says nothing about tasks.
package final class SignalWatch: @unchecked Sendable {
    private let source: any DispatchSourceSignal

    /// Starts to watch, instead of what the signal does to a process.
    ///
    /// - Parameters:
    ///   - number: The signal.
    ///   - body: Is called on a thread of its own, once for arrivals in quick succession.
    package init(_ number: Int32, _ body: @escaping @Sendable () -> Void) {
        // Dispatch has a handler on Linux, which it installs with the first watch of a signal alone.
        if let handler = signal(number, SIG_IGN) { signal(number, handler) }
        source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: body)
        source.resume()
    }

    deinit { source.cancel() }
}
