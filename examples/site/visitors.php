<?php
// Counts visitors. The password below is made up; what matters is that nobody ever gets to see this source.
$database = new PDO('mysql:host=localhost;dbname=museum', 'museum', 'not-a-real-password-5k3rr0w');
$database->exec('UPDATE visitors SET number = number + 1');
echo 'You are visitor number ', $database->query('SELECT number FROM visitors')->fetchColumn(), '.';
