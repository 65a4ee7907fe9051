// Traits: Observability
import HTTPTypes
import KeelHTTP
import KeelServing
import KeelServingObservability
import KeelStorage

let server = StorageServer(adapter: InMemoryStorageAdapter()).observed()
let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/")
print(await server.respond(to: HTTPCall(request)).head.status)
