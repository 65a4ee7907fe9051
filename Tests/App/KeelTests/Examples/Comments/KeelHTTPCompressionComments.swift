import Foundation
import HTTPTypes
import Keel
import KeelHTTPCompression
import KeelTestKit
import Testing

/// Examples from the comments of KeelHTTPCompression; compiled but not run, see
/// ``CommentExamples``.
extension CommentExamples {
    static func responseDecompression(_ client: NetworkClient, _ transport: any HTTPTransport)
        async throws
    {
        var configuration = client.configuration
        configuration.attemptMiddleware.append(ResponseDecompression(for: transport.features))
        _ = configuration
    }
}
