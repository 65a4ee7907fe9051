package import KeelHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension NetworkClient.Configuration {
    /// Creates a configuration with a base address, such as `https://api.example.com/v1`.
    package init(_ baseAddress: String) throws {
        guard let url = URL(string: baseAddress) else { throw TransportError(.invalidRequest) }
        self.init(baseURL: url)
    }
}
