#if Observability
import Foundation
import HTTPTypes
import Keel
import KeelHTTPObservability
import KeelTestKit
import Logging
import Testing

/// Examples from the comments of KeelHTTPObservability; compiled but not run, see
/// ``CommentExamples``.
extension CommentExamples {
    static func hTTPLogging(_ client: NetworkClient) async throws {
        var configuration = client.configuration
        configuration.observers.append(HTTPLogging(Logger(label: "api")))
        _ = configuration
    }

    static func hTTPTracing(_ client: NetworkClient) async throws {
        var configuration = client.configuration
        configuration.middleware.insert(HTTPTracing(.call), at: 0)
        configuration.attemptMiddleware.append(HTTPTracing(.attempt))
        _ = configuration
    }
}
#endif
