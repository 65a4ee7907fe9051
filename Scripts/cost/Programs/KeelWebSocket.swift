import Foundation
import HTTPTypes
import KeelWebSocket

print(try HTTPRequest(webSocket: URL(filePath: "/")))
