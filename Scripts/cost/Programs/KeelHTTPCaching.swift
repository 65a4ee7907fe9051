import Foundation
import KeelCache
import KeelHTTP
import KeelHTTPCaching

struct Answer: Decodable {}

var configuration = NetworkClient.Configuration(baseURL: URL(filePath: "/"))
configuration.hopMiddleware = [HTTPCachingMiddleware(HTTPCache(tier: InMemoryCacheTier()))]
let error = TransportError(.offline)
let client = NetworkClient(configuration, transport: UnavailableHTTPTransport(error))
_ = try await client.get("/", as: Answer.self)
