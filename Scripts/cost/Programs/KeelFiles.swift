import Foundation
import KeelFiles

let files = FileStore(try LocalFileStoreAdapter(folder: "/tmp/cost"))
try await files.write(Data("Hello".utf8), to: "notes/1.txt")
