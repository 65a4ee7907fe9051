// Traits: Logging
import Foundation
import KeelHTTP
import KeelJournal
import KeelLoggingOTLP

let journal = try Journal(at: URL.temporaryDirectory.appending(path: "cost"))
let exporter = try OTLPLogExporter(
    journal,
    to: OTLPLogConfiguration(endpoint: URL(filePath: "/")),
    over: UnavailableHTTPTransport(TransportError(.offline))
)
print(await exporter.flush())
