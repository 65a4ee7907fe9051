import Foundation
import KeelCache

let tier = try DiskCacheTier(at: URL.temporaryDirectory.appending(path: "cost"))
let names = CacheStore(over: tier).cache("names", key: Int.self, value: String.self)
await names.set("Reynolds", for: 7)
