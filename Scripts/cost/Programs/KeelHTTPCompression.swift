import Foundation
import KeelHTTP
import KeelHTTPCompression

struct Answer: Decodable {}

var configuration = NetworkClient.Configuration(baseURL: URL(filePath: "/"))
let transport = UnavailableHTTPTransport(TransportError(.offline))
configuration.attemptMiddleware = [ResponseDecompression(for: transport.features)]
let client = NetworkClient(configuration, transport: transport)
_ = try await client.get("/", as: Answer.self)
