import Foundation
import KeelFiles

let files = FileStore(try LocalFileStoreAdapter(folder: "/tmp/cost"))
try await files.put(Data("Hello".utf8), at: "notes/1.txt")
