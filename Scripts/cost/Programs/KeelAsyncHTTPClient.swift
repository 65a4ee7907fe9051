// Traits: AsyncHTTPClient
import Foundation
import KeelAsyncHTTPClient
import KeelHTTP

struct Answer: Decodable {}

let client = NetworkClient(
    baseURL: URL(filePath: "/"),
    transport: AsyncHTTPClientTransport()
)
_ = try await client.get("/", as: Answer.self)
