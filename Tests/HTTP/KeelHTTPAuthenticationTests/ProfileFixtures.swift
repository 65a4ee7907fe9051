import Foundation
import KeelHTTP
import KeelHTTPAuthentication
import Synchronization

/// A time controlled by a test.
final class TestDates: Sendable {
    private let offset = Mutex<TimeInterval>(0)
    var now: Date { Date(timeIntervalSince1970: offset.withLock { $0 }) }
    func advance(by seconds: TimeInterval) { offset.withLock { $0 += seconds } }
}

struct GetProfile: ServiceEndpoint {
    var path: EndpointPath { "/profile" }
    var options = HTTPCallOptions()
}
