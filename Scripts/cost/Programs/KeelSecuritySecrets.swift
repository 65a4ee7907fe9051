// Traits: Crypto
import KeelSecrets
import KeelSecurity
import KeelSecuritySecrets

let secrets = try SecretStore(InMemorySecretStoreAdapter(), service: "cost")
print(try await secrets.privateKey(.ed25519, forKey: "device").publicKey)
