// Traits: TestServer
import KeelTestServer

try await FaultServer.run(answers: [.text("hello")]) { server in print(server.address()) }
