// Traits: Crypto
import Foundation
import KeelSecurity

let security = SecurityService(keyset: try Keyset.make(.aes256GCM))
print(try security.encrypt(Data("Hello".utf8), associatedData: Data()).count)
