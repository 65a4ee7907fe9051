internal import HTTPTypes
package import KeelHTTP
internal import Synchronization

/// Reports a client's calls to an observer: method, status and duration, without the URL.
package final class ReportingEventObserver: HTTPEventObserver {
    private let observer: KeelObserver
    private let methods = Mutex<[HTTPCallID: String]>([:])

    package init(_ observer: KeelObserver) { self.observer = observer }

    package func observe(_ event: HTTPEvent) {
        switch event.kind {
        case .started(let request):
            methods.withLock { $0[event.call] = request.method.rawValue }
        case .succeeded(let status):
            let failure = status >= 500 ? "status \(status)" : nil
            report(event, ["status": "\(status)"], failure: failure)
        case .failed(let error):
            report(event, [:], failure: error.code.name)
        default: break
        }
    }

    private func report(_ event: HTTPEvent, _ details: [String: String], failure: String?) {
        let method = methods.withLock { $0.removeValue(forKey: event.call) }
        observer(
            KeelObservation(
                .network,
                method ?? "request",
                duration: event.elapsed,
                details: details.merging(["attempts": "\(event.attempt)"]) { $1 },
                failure: failure
            )
        )
    }
}
