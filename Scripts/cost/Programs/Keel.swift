// Traits: default
import Keel

let storage = try KeelConfiguration.production("Cost").makeStorage()
try await storage.setDocument("notes/1", ["text": "Hello"])
