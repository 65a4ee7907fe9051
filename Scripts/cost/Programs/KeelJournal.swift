import Foundation
import KeelJournal

let journal = try Journal(at: URL.temporaryDirectory.appending(path: "cost"))
print(try journal.append([1, 2, 3]))
