import Foundation
import KeelHTTP

struct Answer: Decodable {}

let error = TransportError(.offline)
let client = NetworkClient(
    baseURL: URL(filePath: "/"),
    transport: UnavailableHTTPTransport(error)
)
_ = try await client.get("/", as: Answer.self)
