// Traits: Observability
import Foundation
import KeelHTTP
import KeelHTTPObservability

struct Answer: Decodable {}

let transport = UnavailableHTTPTransport(TransportError(.offline)).observed()
let client = NetworkClient(baseURL: URL(filePath: "/"), transport: transport)
_ = try await client.get("/", as: Answer.self)
