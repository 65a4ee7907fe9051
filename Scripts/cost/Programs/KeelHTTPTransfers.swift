import Foundation
import KeelHTTP
import KeelHTTPTransfers

let address = URL(filePath: "/")
let client = NetworkClient(
    baseURL: address,
    transport: UnavailableHTTPTransport(TransportError(.offline))
)
try await ResumableDownload(from: address, to: URL(filePath: "/tmp/cost"), through: client).run()
