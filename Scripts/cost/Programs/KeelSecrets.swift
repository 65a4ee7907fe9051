import KeelSecrets

let secrets = try await SecretStore.platformDefault(service: "cost")
try await secrets.save("s3cret", forKey: "api-token")
