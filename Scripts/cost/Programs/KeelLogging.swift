// Traits: Logging
import Foundation
import KeelLogging
import Logging

let file = try RotatingLogFile(at: URL.temporaryDirectory.appending(path: "cost.log"))
let logger = Logger(label: "app") { RotatingFileLogHandler(label: $0, output: file) }
logger.logInfo("Hello")
